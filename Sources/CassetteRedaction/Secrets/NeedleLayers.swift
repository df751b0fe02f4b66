/// All spellings of all secrets of a run, in layers. Learning a secret only changes the newest layer.
///
/// A search holds a copy of the known secrets, so that learning has to copy what the search holds. Without layers, that would be
/// everything. A full layer is merged into the next one.
struct NeedleLayers: Sendable {
    /// How many secrets and parts of secrets are searched for in one run. Each takes some 250 bytes in addition to its own.
    static let limit = 200_000
    /// With more texts than this, no further spellings in another letter case are added.
    static let spellingLimit = 50_000
    /// How many texts a layer holds before it is merged into the next; the last layer is unlimited. A merge of 8,192 takes tens of
    /// milliseconds.
    static let sizes = [1024, 8192]

    /// The newest first.
    private(set) var layers = [NeedleIndex(), NeedleIndex(strideLimit: 0), NeedleIndex(strideLimit: 0)]

    var isEmpty: Bool { self.layers.allSatisfy(\.isEmpty) }

    /// Adds the spellings of a secret that views of a text do not unify. Returns whether there is room for them.
    mutating func insert(_ secret: [UInt8], as number: Int, standsAlone: Bool) -> Bool {
        guard self.layers.reduce(0, { $0 + $1.texts.count }) < Self.limit else { return secret.count < NeedleIndex.lengthLimit }
        let hasRoom = self.layers[0].insert(secret, as: number, standsAlone: standsAlone)
        self.mergeFull()
        return hasRoom
    }

    /// Adds other spellings of a secret, while there is plenty of room for secrets.
    mutating func insert(spellings: [[UInt8]], as number: Int) {
        guard !spellings.isEmpty, self.layers.reduce(0, { $0 + $1.texts.count }) < Self.spellingLimit else { return }
        for spelling in spellings { self.layers[0].insert(spelling: spelling, as: number) }
        self.mergeFull()
    }

    private mutating func mergeFull() {
        for (depth, size) in Self.sizes.enumerated() where self.layers[depth].texts.count >= size {
            self.layers[depth + 1].insert(contentsOf: self.layers[depth])
            self.layers[depth] = depth == 0 ? NeedleIndex() : NeedleIndex(strideLimit: 0)
        }
    }

    /// Delivers all hits, in no particular order.
    func search(_ text: UnsafeRawBufferPointer, deliver: (NeedleIndex.Hit) -> Void) {
        for layer in self.layers where !layer.isEmpty { layer.search(text, deliver: deliver) }
    }

    /// The longest piece of a secret at a border of a text. `isCompared` is false if there are too many candidates.
    func piece(in text: UnsafeRawBufferPointer, atEnd: Bool) -> (hit: NeedleIndex.Hit?, isCompared: Bool) {
        var found: (hit: NeedleIndex.Hit?, isCompared: Bool) = (nil, true)
        for layer in self.layers where !layer.isEmpty {
            let (hit, isCompared) = layer.piece(in: text, atEnd: atEnd)
            found.isCompared = found.isCompared && isCompared
            if let hit, hit.range.count > found.hit?.range.count ?? 0 { found.hit = hit }
        }
        return found
    }
}
