import AFTorture

extension Scenario {
    static let proxy: [Scenario] = []
}
