/// A question that is answered once: the first answer counts, and later ones do nothing.
///
/// Belongs to the thread that asks. A delegate that is asked may keep it forever: give it only closures that refer weakly
/// to what the answer is for.
package final class Question<Answer> {
    private var take: ((Answer) -> Void)?

    /// - Parameter take: Gets the answer.
    package init(_ take: @escaping (Answer) -> Void) {
        self.take = take
    }

    /// It waits for its answer.
    package var isOpen: Bool { take != nil }

    package func answer(_ answer: Answer) {
        guard let take else { return }
        self.take = nil
        take(answer)
    }

    /// No answer counts any more.
    package func withdraw() {
        take = nil
    }
}
