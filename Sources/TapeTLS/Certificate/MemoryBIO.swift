internal import COpenSSL

/// Owns a BIO in memory: what OpenSSL reads PEM from and prints to.
struct MemoryBIO: ~Copyable {
    /// Far past any bundle of certificates; OpenSSL counts in `Int32`.
    static let limit = 16 << 20

    let pointer: OpaquePointer

    /// Holds a copy of `bytes`, or nothing.
    init(_ bytes: [UInt8] = []) throws(CertificateError) {
        guard bytes.count <= Self.limit else {
            throw CertificateError(.damaged, "\(bytes.count) octets are too many for certificates or a key; 16 MiB is the limit")
        }
        ErrorQueue.clear()
        guard let pointer = BIO_new(BIO_s_mem()) else { throw .library("allocate memory") }
        guard bytes.isEmpty || BIO_write(pointer, bytes, Int32(bytes.count)) == bytes.count else {
            BIO_free(pointer)
            throw .library("allocate memory")
        }
        self.pointer = pointer
    }

    deinit { BIO_free(self.pointer) }

    /// What has been written and not read yet.
    var bytes: [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let count = wiretape_bio_bytes(self.pointer, &start)
        guard let start, count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
