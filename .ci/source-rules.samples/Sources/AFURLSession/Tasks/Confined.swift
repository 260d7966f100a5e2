final class Confined {
    @exclusivity(unchecked) private var stage = 0
}
