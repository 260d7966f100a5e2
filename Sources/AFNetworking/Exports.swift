@_exported public import AFSerialization
@_exported public import AFURLSession
