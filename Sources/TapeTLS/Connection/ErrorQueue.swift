internal import COpenSSL

/// The list of errors that OpenSSL keeps for each thread: cleared before a call that may fail, drained after it.
///
/// It only tells what OpenSSL says; it does not judge.
enum ErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// The reasons in OpenSSL's words, oldest first, at most the 16 that OpenSSL keeps; the queue is empty afterwards.
    static func drain() -> [String] {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            reasons.append(Self.text(code))
        }
        return reasons
    }

    private static func text(_ code: UInt) -> String {
        // System errors and reasons of other libraries have no text of their own.
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        var buffer = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &buffer, buffer.count)
        return buffer.withUnsafeBufferPointer { String(decoding: $0.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }
}
