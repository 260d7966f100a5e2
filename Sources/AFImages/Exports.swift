@_exported public import AFNetworking
