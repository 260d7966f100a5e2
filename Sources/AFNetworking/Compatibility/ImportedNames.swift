// Names that Swift gave AFNetworking's methods when it imported them: it drops the type of an argument, as in "Block",
// behind a verb, and takes an encoding for a number.

import Foundation

extension URLSessionManager {
    /// ``setSessionDidReceiveAuthenticationChallengeBlock(_:)`` as Swift imported it.
    @preconcurrency
    public func setSessionDidReceiveAuthenticationChallenge(_ block: SessionDidReceiveChallenge?) {
        setSessionDidReceiveAuthenticationChallengeBlock(block)
    }

    /// ``setTaskDidReceiveAuthenticationChallengeBlock(_:)`` as Swift imported it.
    @preconcurrency
    public func setTaskDidReceiveAuthenticationChallenge(_ block: TaskDidReceiveChallenge?) {
        setTaskDidReceiveAuthenticationChallengeBlock(block)
    }

    /// ``setTaskDidCompleteBlock(_:)`` as Swift imported it.
    @preconcurrency
    public func setTaskDidComplete(_ block: TaskDidComplete?) {
        setTaskDidCompleteBlock(block)
    }
}

extension URLConnectionOperation {
    /// ``setWillSendRequestForAuthenticationChallengeBlock(_:)`` as Swift imported it.
    @preconcurrency
    public func setWillSendRequestForAuthenticationChallenge(_ block: ChallengeBlock?) {
        setWillSendRequestForAuthenticationChallengeBlock(block)
    }
}

/// Encodes text: ``/AFSerialization/HTTPRequestSerializer``.
///
/// The property is declared here, and not in the class, where another type has its name.
public protocol TextEncoding: AnyObject {}

extension TextEncoding where Self: HTTPRequestSerializer {
    /// ``/AFSerialization/HTTPRequestSerializer/stringEncoding`` as a number, as in `String.Encoding.utf8.rawValue`.
    public var stringEncoding: UInt {
        get { (stringEncoding as String.Encoding).rawValue }
        set { stringEncoding = String.Encoding(rawValue: newValue) }
    }
}

extension HTTPRequestSerializer: TextEncoding {}
