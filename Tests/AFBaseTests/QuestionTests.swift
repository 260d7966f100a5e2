import AFBase
import Testing

struct QuestionTests {
    @Test func `the first answer counts`() {
        var answers: [Int] = []
        let question = Question<Int> { answers.append($0) }

        #expect(question.isOpen)
        question.answer(1)
        question.answer(2)

        #expect(answers == [1])
        #expect(!question.isOpen)
    }

    @Test func `a question that is withdrawn takes no answer`() {
        var answers: [Int] = []
        let question = Question<Int> { answers.append($0) }

        question.withdraw()
        question.answer(1)

        #expect(answers.isEmpty)
        #expect(!question.isOpen)
    }

    @Test func `an answer given while the first is taken does nothing`() {
        var answers: [Int] = []
        var again: (() -> Void)?
        let question = Question<Int> {
            answers.append($0)
            again?()
        }
        again = { [weak question] in question?.answer(2) }

        question.answer(1)

        #expect(answers == [1])
    }

    @Test func `an answered question lets go of its closure`() {
        final class Asker {}
        var asker: Asker? = Asker()
        weak let seen = asker
        let question = Question<Int> { [asker] _ in withExtendedLifetime(asker) {} }
        asker = nil
        #expect(seen != nil)

        question.answer(1)

        #expect(seen == nil)
    }
}
