/// What all levels of one body together may still collect.
///
/// Belongs to one `MultipartReader`. A class, since its levels share it.
final class MultipartAllowance {
    private var parts: Int
    private var headerSections: Int
    private var surroundings: Int

    init(_ limits: MultipartLimits) {
        self.parts = limits.parts
        self.headerSections = limits.allHeaderSections
        self.surroundings = limits.surroundings
    }

    func takePart() -> Bool {
        self.parts -= 1
        return self.parts >= 0
    }

    func takeHeaders(_ count: Int) -> Bool {
        self.headerSections -= count
        return self.headerSections >= 0
    }

    func takeSurroundings(_ count: Int) -> Bool {
        self.surroundings -= count
        return self.surroundings >= 0
    }
}
