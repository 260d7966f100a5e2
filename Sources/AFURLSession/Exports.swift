@_exported public import AFTLS
@_exported public import AFTransport
