@_exported public import AFURLSession
