select sum(amount * quantity + 0.19 * amount - 0.05 * amount * quantity) as total from events
