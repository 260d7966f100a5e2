import AFTorture

extension Scenario {
    static let images: [Scenario] = []
}
