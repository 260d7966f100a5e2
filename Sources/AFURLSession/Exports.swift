@_exported public import AFTLS
