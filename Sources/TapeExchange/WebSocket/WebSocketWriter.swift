public import CassetteModel
internal import TapeBytes

/// Writes the messages of one direction of a WebSocket as frames (RFC 6455, 5), fragmented and deflated as requested.
///
/// Does not enforce an order: a caller can write after a close.
public struct WebSocketWriter: ~Copyable {
    private let side: WebSocketSide
    private var generator: any RandomNumberGenerator
    private var deflater: MessageDeflater?
    /// The message that has begun, if any.
    private var message: Open?
    /// Control frames that wait for the end of a frame. Only the latest of each kind is kept, which suffices for pongs (RFC 6455, 5.5.3).
    private var waiting: [(opcode: WebSocketOpcode, payload: [UInt8])] = []

    private struct Open {
        /// The next frame's opcode; a continuation after the first frame.
        var opcode: WebSocketOpcode
        var isDeflated: Bool
        /// False if the message never ends.
        var isWhole: Bool
        /// Sizes of the frames that have not begun; nil if each piece is a frame.
        var frames: ArraySlice<Int>?
        /// Payload bytes still missing from the current frame.
        var left = 0
        /// The mask for the next byte of the current frame.
        var mask: WebSocketMask?
    }

    /// - Parameters:
    ///   - side: the sender of these messages. A client's messages are masked.
    ///   - generator: makes the masking keys, which must be unpredictable (RFC 6455, 5.3) except in tests.
    public init(
        _ side: WebSocketSide, agreement: WebSocketAgreement = WebSocketAgreement(),
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.side = side
        self.generator = generator
        if let deflate = agreement.deflate {
            self.deflater = MessageDeflater(windowBits: deflate.windowBits(side), keepsWindow: !deflate.forgets(side))
        }
    }

    /// Whether control frames can be written at once.
    public var isBetweenFrames: Bool { (self.message?.left ?? 0) == 0 }

    /// Appends a whole message.
    ///
    /// - Parameters:
    ///   - isDeflated: deflate the message if that was negotiated; otherwise it is sent uncompressed.
    ///   - frames: the payload bytes of each frame, as recorded. If they do not add up to the size, the message has the same number of
    ///     frames in the same proportion, because deflated sizes depend on the compressor. Empty for one frame.
    ///   - isWhole: false if the rest never comes, so that no frame is marked as the last one.
    public mutating func message(
        _ isText: Bool, _ bytes: UnsafeRawBufferPointer, isDeflated: Bool = false, frames: [Int] = [], isWhole: Bool = true,
        to output: inout [UInt8]
    ) {
        let opcode: WebSocketOpcode = isText ? .text : .binary
        if isDeflated, let coded = self.deflated(bytes) {
            self.message = Open(
                opcode: opcode, isDeflated: true, isWhole: isWhole, frames: Self.plan(frames, size: coded.count)[...])
            coded.withUnsafeBytes { self.write($0, isLast: true, to: &output) }
        } else {
            self.message = Open(
                opcode: opcode, isDeflated: false, isWhole: isWhole, frames: Self.plan(frames, size: bytes.count)[...])
            self.write(bytes, isLast: true, to: &output)
        }
    }

    /// Begins a message whose bytes come in pieces.
    ///
    /// A deflated message has a frame for each piece, because its size is not known in advance. `frames` applies to other messages.
    ///
    /// - Parameter size: the size of the whole message, in bytes.
    public mutating func begin(_ isText: Bool, size: Int, isDeflated: Bool = false, frames: [Int] = [], isWhole: Bool = true) {
        let deflates = isDeflated && self.deflater != nil
        self.message = Open(
            opcode: isText ? .text : .binary, isDeflated: deflates, isWhole: isWhole,
            frames: deflates ? nil : Self.plan(frames, size: size)[...])
    }

    /// Appends the next bytes of the message that was begun. Bytes beyond its size are not written.
    ///
    /// - Returns: false if there is not enough memory for deflating. The connection can then only be cut.
    @discardableResult
    public mutating func piece(_ bytes: UnsafeRawBufferPointer, isLast: Bool, to output: inout [UInt8]) -> Bool {
        guard self.message?.frames == nil else {
            self.write(bytes, isLast: isLast, to: &output)
            return true
        }
        guard var deflater = self.deflater.take() else { return false }
        var coded: [UInt8] = []
        let isWritten = deflater.push(bytes, isLast: isLast) { coded.append(contentsOf: $0) }
        self.deflater = consume deflater
        guard isWritten, !coded.isEmpty || isLast else { return isWritten }
        self.beginFrame(isFinal: isLast, length: coded.count, to: &output)
        coded.withUnsafeBytes { self.payload($0, to: &output) }
        if isLast { self.message = nil }
        self.writeWaiting(to: &output)
        return true
    }

    /// Appends a ping or pong of at most 125 bytes as soon as the current frame has ended. A longer payload is truncated.
    public mutating func control(_ isPing: Bool, _ payload: [UInt8], to output: inout [UInt8]) {
        self.control(isPing ? .ping : .pong, payload, to: &output)
    }

    /// Appends a close as soon as the current frame has ended. The reason is truncated to 123 bytes.
    ///
    /// - Parameter code: nil for a close without a code. 1005, 1006 and 1015 are never sent (RFC 6455, 7.4.1) and count as nil.
    public mutating func close(_ code: Int?, reason: String = "", to output: inout [UInt8]) {
        guard let code, let sent = UInt16(exactly: code), ![1005, 1006, 1015].contains(code) else {
            return self.control(.close, [], to: &output)
        }
        var text: [UInt8] = []
        for character in reason.unicodeScalars {
            let bytes = UTF8.encode(character).map(Array.init) ?? []
            guard text.count + bytes.count <= 123 else { break }
            text += bytes
        }
        self.control(.close, [UInt8(sent >> 8), UInt8(truncatingIfNeeded: sent)] + text, to: &output)
    }

    /// Appends a close with its recorded payload, whatever that is.
    public mutating func close(payload: [UInt8], to output: inout [UInt8]) { self.control(.close, payload, to: &output) }

    // MARK: Frames

    private mutating func control(_ opcode: WebSocketOpcode, _ payload: [UInt8], to output: inout [UInt8]) {
        // RFC 6455, 5.5.
        let payload = Array(payload.prefix(125))
        guard self.isBetweenFrames else {
            self.waiting.removeAll { $0.opcode == opcode }
            return self.waiting.append((opcode, payload))
        }
        let mask = self.head(WebSocketFrameHead(isFinal: true, opcode: opcode, length: payload.count), to: &output)
        payload.withUnsafeBytes { Self.append($0, mask, to: &output) }
    }

    private mutating func writeWaiting(to output: inout [UInt8]) {
        guard !self.waiting.isEmpty, self.isBetweenFrames else { return }
        let waiting = self.waiting
        self.waiting = []
        for one in waiting { self.control(one.opcode, one.payload, to: &output) }
    }

    /// Appends bytes to the planned frames.
    private mutating func write(_ bytes: UnsafeRawBufferPointer, isLast: Bool, to output: inout [UInt8]) {
        var rest = bytes
        while let message = self.message {
            if message.left == 0 {
                guard let next = message.frames?.first else { break }
                // The next frame begins with its first byte, or at once if it is empty.
                guard next == 0 || !rest.isEmpty else { break }
                self.message?.frames?.removeFirst()
                self.beginFrame(isFinal: message.frames?.count == 1, length: next, to: &output)
                guard next > 0 else {
                    self.writeWaiting(to: &output)
                    continue
                }
            }
            let taken = min(self.message?.left ?? 0, rest.count)
            guard taken > 0 else { break }
            self.payload(UnsafeRawBufferPointer(rebasing: rest[..<taken]), to: &output)
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            self.writeWaiting(to: &output)
        }
        if isLast { self.message = nil }
    }

    private mutating func beginFrame(isFinal: Bool, length: Int, to output: inout [UInt8]) {
        guard let message = self.message else { return }
        let isFirst = message.opcode != .continuation
        let head = WebSocketFrameHead(
            isFinal: isFinal && message.isWhole, reserved: isFirst && message.isDeflated ? 4 : 0, opcode: message.opcode, length: length)
        let mask = self.head(head, to: &output)
        self.message?.mask = mask
        self.message?.opcode = .continuation
        self.message?.left = length
    }

    private mutating func payload(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        let mask = self.message?.mask
        Self.append(bytes, mask, to: &output)
        self.message?.mask = mask?.turned(by: bytes.count)
        self.message?.left -= bytes.count
    }

    private static func append(_ bytes: UnsafeRawBufferPointer, _ mask: WebSocketMask?, to output: inout [UInt8]) {
        if let mask { mask.append(bytes, to: &output) } else { output.append(contentsOf: bytes) }
    }

    /// Appends a head, with a new mask if the side masks, and returns the mask.
    private mutating func head(_ head: WebSocketFrameHead, to output: inout [UInt8]) -> WebSocketMask? {
        var head = head
        if self.side == .client { head.mask = WebSocketMask(UInt32(truncatingIfNeeded: self.generator.next())) }
        head.write(to: &output)
        return head.mask
    }

    private mutating func deflated(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard var deflater = self.deflater.take() else { return nil }
        var coded: [UInt8] = []
        let isWritten = deflater.push(bytes, isLast: true) { coded.append(contentsOf: $0) }
        // If memory runs out, the following messages are sent uncompressed too.
        if isWritten { self.deflater = consume deflater }
        return isWritten ? coded : nil
    }

    /// The sizes of the same number of frames, adjusted so that they hold `size` bytes.
    static func plan(_ frames: [Int], size: Int) -> [Int] {
        let frames = frames.isEmpty ? [size] : frames.map { max($0, 0) }
        let sum = frames.reduce(0) { $0.addingReportingOverflow($1).partialValue }
        guard sum != size || sum < 0 else { return frames }
        var plan: [Int] = []
        var share = 0.0
        var end = 0
        for frame in frames.dropLast() {
            share += sum > 0 ? Double(frame) / Double(sum) : 0
            let next = min(size, max(end, Int(share * Double(size))))
            plan.append(next - end)
            end = next
        }
        return plan + [size - end]
    }
}

extension WebSocketFrameHead {
    /// Appends the head in as few bytes as possible (RFC 6455, 5.2).
    func write(to output: inout [UInt8]) {
        output.append((self.isFinal ? 0x80 : 0) | self.reserved << 4 | self.opcode.rawValue)
        let masked: UInt8 = self.mask == nil ? 0 : 0x80
        switch self.length {
        case ...125: output.append(masked | UInt8(truncatingIfNeeded: self.length))
        case ...0xffff: self.write(126 | masked, 2, to: &output)
        default: self.write(127 | masked, 8, to: &output)
        }
        if let mask = self.mask { output += mask.bytes }
    }

    private func write(_ first: UInt8, _ count: Int, to output: inout [UInt8]) {
        output.append(first)
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) { output.append(UInt8(truncatingIfNeeded: self.length >> shift)) }
    }
}
