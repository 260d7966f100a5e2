/// Equality of text by its bytes. `==` of strings is Unicode's, for which different bytes can be the same name: two
/// realms, or two users, that are not the same.
enum ByteEquality {
    static func holds(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

    static func holds(_ one: String?, _ other: String?) -> Bool {
        switch (one, other) {
        case (nil, nil): true
        case (let one?, let other?): holds(one, other)
        case (nil, _?), (_?, nil): false
        }
    }
}
