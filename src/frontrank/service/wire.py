"""The messages of URLFrontier's protocol, as classes: ``wire.URLInfo``, ``wire.GetParams`` and so on.

They are built from ``urlfrontier.desc``, which ``make proto`` compiles from ``urlfrontier.proto``; wire.pyi has their types.
Compiled Python modules would do the same, but each works with one major version of protobuf only. The pool is our own, so that
another package in this process may have these messages too.
"""

from __future__ import annotations

from importlib import resources

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_pool = descriptor_pool.DescriptorPool()
_files = descriptor_pb2.FileDescriptorSet.FromString(resources.files(__package__).joinpath("urlfrontier.desc").read_bytes())
for _file in _files.file:
    _pool.Add(_file)
DESCRIPTOR = _pool.FindFileByName("urlfrontier.proto")
for _name, _message in DESCRIPTOR.message_types_by_name.items():
    globals()[_name] = message_factory.GetMessageClass(_message)
