// What the tests of this target share.
@_exported public import AFNetworkingTesting
@_exported public import AFSerialization
@_exported public import AFTestFixtures
@_exported public import AFTestSupport
@_exported public import AFURLSession
@_exported public import Foundation
@_exported public import Testing
