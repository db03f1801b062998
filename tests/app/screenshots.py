"""Take the pictures of the guide from the real program: ``python tests/app/screenshots.py``, then look at them."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from pictures import laboratory, pictures_of
from scenes import SCENES

from dlperf.messages import LANGUAGES

ROOT = Path(__file__).resolve().parents[2]
ASSETS = {"en": "site/docs/assets", "zh": "site/docs/zh/assets"}
SHOWN = ("choose", "watch", "trial-curve", "results-compared", "machines", "publish-built")
VIEWS = (((110, 34), "dark"),)


def main() -> None:
    for name in SHOWN:
        for language in LANGUAGES:
            with tempfile.TemporaryDirectory() as temporary, laboratory(Path(temporary)) as workspace:
                (picture,) = asyncio.run(pictures_of(SCENES[name], workspace, language, VIEWS, drawn=True))
            file = ROOT / ASSETS[language] / f"tui-{name}.svg"
            file.parent.mkdir(exist_ok=True)
            file.write_text(picture.svg)


if __name__ == "__main__":
    main()
