@_exported public import AFURLTypes
