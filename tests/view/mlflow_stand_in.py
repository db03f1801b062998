"""The part of MLflow's tracking API that is used, in memory, for machines without MLflow."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

Fields = dict[str, Any]


class StandIn(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.experiments: list[Fields] = []
        self.runs: list[Fields] = []
        self.authorization = ""
        """That requests must have."""
        self.refusal = b""
        """Answer to every request, where there is one."""

    def answer(self, path: str, asked: Fields) -> Fields:
        runs = {run["info"]["run_id"]: run for run in self.runs}
        match path:
            case "experiments/search":
                return {"experiments": self.experiments} if self.experiments else {}
            case "experiments/create":
                self.experiments.append({"experiment_id": "7", "name": asked["name"]})
                return self.experiments[-1]
            case "runs/create":
                info = {"run_id": str(len(runs)), "run_name": asked["run_name"], "status": "RUNNING"}
                self.runs.append({"info": info, "data": {"tags": asked["tags"], "params": [], "metrics": []}})
                return {"run": self.runs[-1]}
            case "runs/log-batch":
                data = runs[asked["run_id"]]["data"]
                data["params"] += asked.get("params", [])
                data["metrics"] += asked.get("metrics", [])
            case "runs/update":
                runs[asked["run_id"]]["info"]["status"] = asked["status"]
            case "runs/search":
                first, finished = int(asked.get("page_token") or 0), "FINISHED" in asked.get("filter", "")
                found = [run for run in self.runs if run["info"]["status"] == "FINISHED" or not finished]
                more = {"next_page_token": str(first + 1)} if first + 1 < len(found) else {}
                return {"runs": found[first : first + 1]} | more  # pages of one run
        return {}


class _Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        allowed = self.headers.get("Authorization", "") == self.server.authorization
        found = self.server.answer(self.path.removeprefix("/api/2.0/mlflow/"), asked) if allowed else {}
        self.send_response(403 if self.server.refusal else 200 if allowed else 401)
        self.end_headers()
        self.wfile.write(self.server.refusal or json.dumps(found).encode())

    def log_message(self, *_: Any) -> None:
        """Print nothing."""
