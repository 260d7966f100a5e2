@testable import AFURLSession

struct TaskStateTests {
    private enum Call: CaseIterable {
        case resume, suspend, cancel
    }

    @Test func `each call does what the table says`() {
        var state = TaskState()
        #expect(state.resume() == true)
        #expect(state.resume() == false)
        #expect(state.suspend() == true)
        #expect(state.suspend() == false)
        #expect(state.resume() == false)
        #expect(state.resume() == true)
        #expect(state.cancel() == true)
        for call in Call.allCases { #expect(perform(call, on: &state) == false) }
        #expect(state.state == .canceling)
        state.complete()
        for call in Call.allCases { #expect(perform(call, on: &state) == false) }
        #expect(state.state == .completed)
    }

    @Test func `a task is cancelled once, suspended or running`() {
        for resumes in [true, false] {
            var state = TaskState()
            if resumes { _ = state.resume() }
            #expect(state.cancel() == true)
            #expect(state.cancel() == false)
        }
    }

    private func perform(_ call: Call, on state: inout TaskState) -> Bool {
        switch call {
        case .resume: state.resume()
        case .suspend: state.suspend()
        case .cancel: state.cancel()
        }
    }
}
