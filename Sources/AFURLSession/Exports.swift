@_exported public import AFTransport
@_exported public import AFURLTypes
