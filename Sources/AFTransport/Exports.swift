@_exported public import AFRequest
