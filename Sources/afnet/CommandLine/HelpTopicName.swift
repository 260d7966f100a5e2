/// The topics of the help, in its order.
enum HelpTopicName: String, CaseIterable, Sendable {
    case all
    case transfers
    case urls
    case bodies
    case login
    case cookies
    case output
    case writeOut = "write-out"
    case retries
    case parallel
    case cache
    case proxies
    case tls
    case pins
    case policy
    case report
    case images
    case lint
    case verifyChain = "verify-chain"
    case reach
    case serve
    case events
    case ws
    case completion
    case config
    case curl
    case exitCodes = "exit-codes"
    case man
}
