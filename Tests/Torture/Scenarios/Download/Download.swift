import AFTorture

extension Scenario {
    static let download: [Scenario] = []
}
