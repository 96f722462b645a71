"""PAD: host tables to device tensors. The only folder that chooses a shape or names a device."""

from jaxkg.tensors.buckets import Capacities, batch_starts, bucket, pad, starts_table
from jaxkg.tensors.graph import TensorGraph, edge_tables, tensor_graph
from jaxkg.tensors.stream import Sized, rerun, stream

__all__ = [
    "Capacities",
    "Sized",
    "TensorGraph",
    "batch_starts",
    "bucket",
    "edge_tables",
    "pad",
    "rerun",
    "starts_table",
    "stream",
    "tensor_graph",
]
