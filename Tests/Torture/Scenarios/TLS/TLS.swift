import AFTorture

extension Scenario {
    static let tls: [Scenario] = []
}
