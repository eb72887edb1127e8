"""Purchase events of users: cleaned, joined, with features a user, and counted a day."""
