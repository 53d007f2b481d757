"""Writes and reads files of heads as their authors publish them: safetensors in F16, with a config.json in the same folder."""
import json
import struct
from pathlib import Path

import numpy as np
import torch


def write(path: Path, tensors: dict[str, torch.Tensor], config: dict) -> None:
    header, data, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, tensor in tensors.items():
        body = tensor.detach().cpu().numpy().astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [at, at + len(body)]}
        data.append(body)
        at += len(body)
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".tmp")
    beside.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(data))
    beside.replace(path)
    path.with_name("config.json").write_text(json.dumps(config, indent=2) + "\n")


def read(path: Path) -> dict[str, torch.Tensor]:
    """Returns the tensors of a file that write has made, in float32."""
    file = path.read_bytes()
    behind = 8 + struct.unpack("<Q", file[:8])[0]
    out = {}
    for name, t in json.loads(file[8:behind]).items():
        if name != "__metadata__":
            begin, end = (behind + at for at in t["data_offsets"])
            out[name] = torch.from_numpy(np.frombuffer(file[begin:end], "<f2").reshape(t["shape"]).astype(np.float32))
    return out
