@_exported public import AFState
@_exported public import AFTLS
