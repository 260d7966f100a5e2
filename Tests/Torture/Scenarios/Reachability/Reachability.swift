import AFTorture

extension Scenario {
    static let reachability: [Scenario] = []
}
