import AFTorture

extension Scenario {
    static let cookies: [Scenario] = []
}
