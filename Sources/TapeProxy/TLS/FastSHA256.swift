public import TapeBytes
internal import TapeTLS

/// SHA-256 by OpenSSL, or by Wiretape's own code if OpenSSL does not provide it.
public struct FastSHA256: ContentDigest {
    /// A class that owns the OpenSSL context: a digest must be copyable, but the context's owner is not.
    private final class Box {
        var digest: SHA256Digest

        init?() {
            guard let digest = SHA256Digest() else { return nil }
            self.digest = digest
        }
    }

    private let box: Box?
    private var portable = PortableSHA256()

    public init() {
        self.box = Box()
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if let box { box.digest.update(bytes) } else { self.portable.update(bytes) }
    }

    public mutating func finalize() -> [UInt8] {
        if let box { box.digest.finalize() } else { self.portable.finalize() }
    }
}
