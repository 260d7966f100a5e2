// What the tests of this target share.
@_exported public import AFNetworking
@_exported public import AFNetworkingTesting
@_exported public import AFTestFixtures
@_exported public import AFTestSupport
@_exported public import Foundation
@_exported public import Testing
