internal import COpenSSL

/// OpenSSL's end of a connection's two octet streams: reads the input of the running call in place, and appends to its output.
///
/// Unlike OpenSSL's own memory BIO it copies no input before OpenSSL wants it.
enum ConnectionBIO {
    // SAFETY: made once, and not changed after.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wiretape") else { return nil }
        BIO_meth_set_read(method) { bio, target, length in
            guard let bio, let target, length > 0, let state = Self.state(of: bio) else { return -1 }
            wiretape_bio_clear_retry(bio)
            guard !state.input.isEmpty else {
                wiretape_bio_retry_read(bio)
                return -1
            }
            let count = min(Int(length), state.input.count)
            // SAFETY: the input is not empty, and so has an address.
            UnsafeMutableRawPointer(target).copyMemory(from: state.input.baseAddress.unsafelyUnwrapped, byteCount: count)
            state.input = UnsafeRawBufferPointer(rebasing: state.input[count...])
            return Int32(count)
        }
        BIO_meth_set_write(method) { bio, source, length in
            guard let bio, let source, length > 0, let state = Self.state(of: bio) else { return -1 }
            wiretape_bio_clear_retry(bio)
            let octets = UnsafeRawBufferPointer(start: source, count: Int(length))
            guard octets.count <= state.room.count, state.output.count == 0 else {
                state.output.append(octets)
                return length
            }
            state.room.copyMemory(from: octets)
            state.room = UnsafeMutableRawBufferPointer(rebasing: state.room[octets.count...])
            return length
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // Flushing is done by whoever takes the output; nothing else is asked of it.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return method
    }()

    /// - Returns: a BIO that the caller owns; nil when memory is out.
    static func make(_ state: ConnectionState) -> OpaquePointer? {
        guard let method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(state).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    private static func state(of bio: OpaquePointer) -> ConnectionState? {
        BIO_get_data(bio).map { Unmanaged<ConnectionState>.fromOpaque($0).takeUnretainedValue() }
    }
}
