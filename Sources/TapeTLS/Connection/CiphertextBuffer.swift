/// Ciphertext that waits to be sent, in memory of its own that is given back when it is empty: idle connections hold none.
struct CiphertextBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    init() {}

    deinit {
        self.base?.deallocate()
    }

    /// Makes room for so many more octets.
    mutating func reserve(_ additional: Int) {
        guard self.count + additional > self.capacity else { return }
        let capacity = max(self.count + additional, 2 * self.capacity, 512)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        if let base {
            larger.copyMemory(from: base, byteCount: self.count)
            base.deallocate()
        }
        self.base = larger
        self.capacity = capacity
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        self.reserve(bytes.count)
        self.base?.advanced(by: self.count).copyMemory(from: source, byteCount: bytes.count)
        self.count += bytes.count
    }

    /// Hands out everything, and is empty after.
    mutating func take<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        let result = body(UnsafeRawBufferPointer(start: self.base, count: self.count))
        self.base?.deallocate()
        self.base = nil
        self.capacity = 0
        self.count = 0
        return result
    }
}
