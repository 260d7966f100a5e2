import AFTorture

extension Scenario {
    static let redirect: [Scenario] = []
}
