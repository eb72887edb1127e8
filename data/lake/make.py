"""Make the orders of `pipelines/lake.yaml`: a week of CSV files packed by gzip, and their lines as nested JSON.

    python data/lake/make.py [FOLDER]

The numbers are drawn with a fixed seed, so that every machine makes the same files.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

SEED = 26
FIRST_DAY = datetime(2026, 1, 1)
DAYS, ORDERS_A_DAY = 7, 60
CITIES = {"Berlin": "DE", "Lyon": "FR", "Oslo": "NO", "Turin": "IT", "Graz": "AT"}
PRICES = {"lamp": 3990, "chair": 12900, "desk": 24900, "cable": 790, "plant": 1450}
"""In cents."""


def main(folder: Path) -> None:
    """Write the files of all days."""
    draw, order = random.Random(SEED), 0
    for name in ("orders", "lines"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number in range(DAYS):
        day = FIRST_DAY + timedelta(days=number)
        rows, lines = ["order_id;placed_at;status;shipping"], list[str]()
        for _ in range(ORDERS_A_DAY):
            order += 1
            placed = day + timedelta(seconds=draw.randrange(86_400))
            status = draw.choices(["paid", "returned", "open"], [8, 1, 1])[0]
            shipping = euros(draw.randrange(300, 900))
            rows.append(f"{order};{placed:%Y-%m-%d %H:%M:%S};{status};{shipping}")
            lines.append(json.dumps(line_of(order, draw)))
        text = "\n".join(rows) + "\n"
        with gzip.GzipFile(folder / f"orders/{day:%Y-%m-%d}.csv.gz", "wb", mtime=0) as file:
            file.write(text.encode())
        (folder / f"lines/{day:%Y-%m-%d}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def line_of(order: int, draw: random.Random) -> dict[str, object]:
    """Return the customer and the items of an order."""
    city = draw.choice(list(CITIES))
    names = draw.sample(list(PRICES), draw.randint(1, 3))
    items = [{"sku": name, "quantity": draw.randint(1, 4), "cents": PRICES[name]} for name in names]
    customer = {"id": draw.randrange(90), "city": city, "country": CITIES[city]}
    return {"order_id": order, "customer": customer, "items": items}


def euros(cents: int) -> str:
    """Return an amount as the shop's export has it: with a comma."""
    return f"{cents // 100},{cents % 100:02}"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
