@_exported public import AFState
@_exported public import AFTLS
@_exported public import AFWire
