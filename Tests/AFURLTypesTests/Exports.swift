// What the tests of this target share.
@_exported public import AFNetworkingTesting
@_exported public import AFTestFixtures
@_exported public import AFTestSupport
