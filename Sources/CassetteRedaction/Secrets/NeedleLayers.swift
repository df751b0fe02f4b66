/// All spellings of all secrets of a run, in layers: learning a secret changes the youngest one only.
///
/// A search holds what is known when it begins, and learning copies what a search holds. Without layers that would be all of it. A full layer is
/// merged into the next one.
struct NeedleLayers: Sendable {
    /// Secrets and parts of secrets that are searched for in one run: each takes some 250 bytes beside its own.
    static let limit = 200_000
    /// Texts of a layer before it is merged into the next; the last layer takes all. A merge of 8,192 takes tens of milliseconds.
    static let sizes = [1024, 8192]

    /// The youngest first.
    private(set) var layers = [NeedleIndex(), NeedleIndex(strideLimit: 0), NeedleIndex(strideLimit: 0)]

    var isEmpty: Bool { self.layers.allSatisfy(\.isEmpty) }

    /// Enters the spellings of a secret that no view of a text brings together. Whether there is room for them.
    mutating func insert(_ secret: [UInt8], as number: Int, standsAlone: Bool) -> Bool {
        guard self.layers.reduce(0, { $0 + $1.texts.count }) < Self.limit else { return secret.count < NeedleIndex.lengthLimit }
        let hasRoom = self.layers[0].insert(secret, as: number, standsAlone: standsAlone)
        for (depth, size) in Self.sizes.enumerated() where self.layers[depth].texts.count >= size {
            self.layers[depth + 1].insert(contentsOf: self.layers[depth])
            self.layers[depth] = depth == 0 ? NeedleIndex() : NeedleIndex(strideLimit: 0)
        }
        return hasRoom
    }

    /// Everything that is found, in no order.
    func search(_ text: UnsafeRawBufferPointer, deliver: (NeedleIndex.Hit) -> Void) {
        for layer in self.layers where !layer.isEmpty { layer.search(text, deliver: deliver) }
    }
}
