import AFTorture

extension Scenario {
    static let cache: [Scenario] = []
}
