// What the tests of this target share.
@_exported public import AFTestSupport
@_exported public import AFVirtualSystem
@_exported public import Testing
