import Dispatch

struct Allowed: @unchecked Sendable {}
struct OneTooMany: @unchecked Sendable {}  // expect: unchecked
