/// Somebody expect: plain-words
/// expect: plain-words: asks, what has
/// come of it.
let nobody = say("somebody's")
@Test("whoever") func a() {}  // expect: plain-words
@Test func `anyone else`() {}  // expect: plain-words
