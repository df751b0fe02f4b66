internal import CNghttp2
internal import CassetteModel
public import NIOCore

/// One end of an HTTP/2 connection without a socket (RFC 9113): turns bytes into events, and messages into bytes.
///
/// Owns nghttp2's session and frees it. Does no I/O and has no clock. Events are collected and returned by `receive` and `takeOutput`, so
/// nothing is called back while nghttp2 works. Not Sendable: one thread at a time.
public final class HTTP2Connection {
    public enum Role: Sendable, Hashable { case server, client }

    /// What a peer is told when the connection begins, which limits what it may send.
    public struct Settings: Sendable, Hashable {
        /// Streams that the peer may have open at once (RFC 9113, 6.5.2).
        public var concurrentStreams = 100
        /// Bytes of a body that may arrive before `credit` is called: the initial window of each stream.
        public var streamWindow = 65_535
        /// Bytes of all bodies that may be in flight, and the limit for the total growth of stream windows.
        public var connectionWindow = 8 << 20
        /// Bytes of a decoded header section, plus 32 for each field (RFC 9113, 6.5.2). A larger one is marked as too large. It includes
        /// the request's target, which has a line of its own in HTTP/1.
        public var headerSection = 128 * 1024
        /// Cookies that stay fields of their own, as browsers send them. Those that follow are joined to one field, so that bytes alone decide
        /// how many may come, and an indexed cookie of one byte does not cost a field.
        public var separateCrumbs = 512
        /// The number of a client's first stream.
        package var firstStream: Int32 = 1

        public init() {}
    }

    private let role: Role
    private let settings: Settings
    private let session: OpaquePointer
    private var events: [HTTP2Event] = []
    private var output = ByteBuffer()
    /// The header section being read. No other frame comes before its end (RFC 9113, 6.10).
    private var section: HTTP2FieldSection?
    private var outputLimit = 0
    private var bodies: [Int32: OutgoingBody] = [:]
    /// The size of the last output, as an estimate of the next one.
    private var lastOutput = 0
    /// The last request whose head was sent. Later ones wait for the peer's limit of streams, in order.
    private var lastSent: Int32 = 0
    /// How many heads of answers nghttp2 has yet to send, by stream.
    private var queuedHeads: [Int32: Int] = [:]
    /// Streams that are reset once their heads are sent.
    private var cuts: [Int32: HTTP2Cut] = [:]
    /// The first byte of the buffer that `receive` reads.
    private var base: UnsafeRawPointer?
    private var accounts = HTTP2Accounts()
    /// The windows of streams that have grown beyond the initial one.
    private var grown: [Int32: Int] = [:]
    private var growth = 0
    private var numbers = StreamNumbers()

    /// - Throws: if nghttp2 is out of memory.
    public init(_ role: Role, settings: Settings = Settings()) throws(HTTP2Failure) {
        self.role = role
        self.settings = settings
        self.session = try Self.makeSession(role)
        nghttp2_session_set_user_data(self.session, Unmanaged.passUnretained(self).toOpaque())
        var entries = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(settings.streamWindow)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(settings.headerSection)),
        ]
        switch role {
        case .server:
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(settings.concurrentStreams)))
            // RFC 8441, 3: clients may open WebSockets in streams.
            entries.append(nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL.rawValue), value: 1))
        case .client:
            entries.append(nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0))
            if settings.firstStream > 1 {
                try HTTP2Failure.check(nghttp2_session_set_next_stream_id(self.session, settings.firstStream))
            }
        }
        try HTTP2Failure.check(nghttp2_submit_settings(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count))
        try HTTP2Failure.check(
            nghttp2_session_set_local_window_size(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(settings.connectionWindow)))
    }

    deinit { nghttp2_session_del(self.session) }

    private static func makeSession(_ role: Role) throws(HTTP2Failure) -> OpaquePointer {
        guard let callbacks = self.callbacks, let option = self.option else { throw HTTP2Failure(code: NGHTTP2_ERR_NOMEM.rawValue) }
        var session: OpaquePointer?
        switch role {
        case .server: try HTTP2Failure.check(nghttp2_session_server_new2(&session, callbacks, nil, option))
        case .client: try HTTP2Failure.check(nghttp2_session_client_new2(&session, callbacks, nil, option))
        }
        guard let session else { throw HTTP2Failure("nghttp2 could not create a session") }
        return session
    }

    // SAFETY: written only here, once; sessions copy its contents. nil if memory cannot be allocated.
    private nonisolated(unsafe) static let option: OpaquePointer? = {
        var option: OpaquePointer?
        guard nghttp2_option_new(&option) == 0 else { return nil }
        nghttp2_option_set_no_auto_window_update(option, 1)
        nghttp2_option_set_peer_max_concurrent_streams(option, 100)
        nghttp2_option_set_max_settings(option, 32)
        nghttp2_option_set_max_outbound_ack(option, 1000)
        nghttp2_option_set_max_send_header_block_length(option, 256 * 1024)
        // Frames of unknown types are counted too, and then dropped.
        for type in UInt8(0x0a)...0xff { nghttp2_option_set_user_recv_extension_type(option, type) }
        return option
    }()

    // SAFETY: written only here, once; sessions copy it. nil if memory cannot be allocated.
    private nonisolated(unsafe) static let callbacks: OpaquePointer? = {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, _, user in
            guard let user else { return 0 }
            return HTTP2Connection.of(user).sectionBegan()
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameLength, value, valueLength, flags, user in
            guard let user else { return 0 }
            return HTTP2Connection.of(user).field(
                UnsafeBufferPointer(start: name, count: nameLength), UnsafeBufferPointer(start: value, count: valueLength),
                neverIndexed: flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0)
        }
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, name, nameLength, _, _, _, user in
            guard let user else { return 0 }
            HTTP2Connection.of(user).invalidField(UnsafeBufferPointer(start: name, count: nameLength))
            return 0
        }
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, user in
            guard let header, let user else { return 0 }
            return HTTP2Connection.of(user).frameBegan(header.pointee)
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame, let user else { return 0 }
            HTTP2Connection.of(user).received(frame)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame, let user else { return 0 }
            HTTP2Connection.of(user).sent(frame)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, data, length, user in
            guard let data, let user else { return 0 }
            HTTP2Connection.of(user).data(stream, UnsafeRawPointer(data), length)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
            guard let user else { return 0 }
            HTTP2Connection.of(user).closed(stream, code)
            return 0
        }
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, header, length, _, user in
            guard let frame, let header, let user else { return 0 }
            return HTTP2Connection.of(user).write(
                frame.pointee.hd.stream_id, header: UnsafeRawBufferPointer(start: header, count: 9), length)
        }
        nghttp2_session_callbacks_set_unpack_extension_callback(callbacks) { _, _, _, _ in NGHTTP2_ERR_CANCEL.rawValue }
        return callbacks
    }()

    /// The pointer refers to the connection itself: a session calls back only while its connection calls it.
    private static func of(_ user: UnsafeMutableRawPointer) -> HTTP2Connection {
        Unmanaged<HTTP2Connection>.fromOpaque(user).takeUnretainedValue()
    }

    // MARK: Receiving

    /// Reads bytes from the peer.
    ///
    /// - Parameter elapsed: seconds since the connection began, for limits over time.
    /// - Returns: the resulting events in order. The ranges of bodies are offsets from the buffer's reader index.
    /// - Throws: if the connection cannot continue. Send what `takeOutput` returns and then close it.
    public func receive(_ buffer: ByteBuffer, elapsed: Double = 0) throws(HTTP2Failure) -> [HTTP2Event] {
        self.accounts.elapsed = elapsed
        let result = buffer.withUnsafeReadableBytes { bytes in
            self.base = bytes.baseAddress
            return nghttp2_session_mem_recv(self.session, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        }
        self.base = nil
        // The peer's messages end here. Drop events that have not been returned, so that no truncated message passes for a complete one.
        if self.accounts.excess != nil || result < 0 { self.events.removeAll() }
        if let excess = self.accounts.excess {
            self.end(code: .enhanceYourCalm)
            throw HTTP2Failure(excess)
        }
        if let number = self.numbers.refused {
            self.events.removeAll()
            self.end(code: .protocolError)
            throw HTTP2Failure("the peer opened stream \(number) after a later one")
        }
        guard result >= 0 else {
            if result == Int(NGHTTP2_ERR_FLOODED.rawValue) { self.end(code: .enhanceYourCalm) }
            throw HTTP2Failure(code: Int32(truncatingIfNeeded: result))
        }
        return self.takeEvents()
    }

    private func takeEvents() -> [HTTP2Event] {
        var events: [HTTP2Event] = []
        swap(&events, &self.events)
        return events
    }

    private func frameBegan(_ header: nghttp2_frame_hd) -> Int32 {
        self.accounts.frameBegan(type: header.type, flags: header.flags, length: header.length)
        if self.role == .server, nghttp2_frame_type(UInt32(header.type)) == NGHTTP2_HEADERS {
            self.numbers.begins(Int(header.stream_id))
            guard self.numbers.refused == nil else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
        }
        return self.accounts.excess == nil ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }

    private func sectionBegan() -> Int32 {
        self.section = HTTP2FieldSection()
        return 0
    }

    private func field(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, neverIndexed: Bool) -> Int32 {
        guard let section else { return 0 }
        let size = section.append(name, value, settings: self.settings, neverIndexed: neverIndexed)
        // An endless section would keep the connection busy with fields that are discarded.
        guard size <= 4 * self.settings.headerSection else {
            self.accounts.headerSectionIsEndless()
            return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        return 0
    }

    private func invalidField(_ name: UnsafeBufferPointer<UInt8>) { self.section?.refuse(name) }

    private func received(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        let ends = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_HEADERS:
            guard let section = self.section.take() else { return }
            section.end()
            self.events.append(.headers(stream: header.stream_id, section, endsStream: ends))
        case NGHTTP2_DATA:
            if ends { self.events.append(.ended(stream: header.stream_id)) }
        case NGHTTP2_GOAWAY:
            self.events.append(
                .goAway(lastStream: wiretape_goaway_last(frame), code: HTTP2ErrorCode(rawValue: wiretape_goaway_code(frame))))
        case NGHTTP2_SETTINGS:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { self.events.append(.settings) }
        default: break
        }
    }

    private func data(_ stream: Int32, _ bytes: UnsafeRawPointer, _ count: Int) {
        guard let base, count > 0 else { return }
        let start = bytes - base
        // A stream that is not read must not stop the others, so the connection's window is credited on arrival.
        nghttp2_session_consume_connection(self.session, count)
        self.events.append(.data(stream: stream, start..<start + count))
    }

    private func closed(_ stream: Int32, _ code: UInt32) {
        self.bodies[stream] = nil
        self.queuedHeads[stream] = nil
        self.cuts[stream] = nil
        if !self.grown.isEmpty, let size = self.grown.removeValue(forKey: stream) { self.growth -= size - self.settings.streamWindow }
        self.events.append(.closed(stream: stream, code: HTTP2ErrorCode(rawValue: code)))
    }

    private func sent(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_RST_STREAM:
            // A client resets its own requests deliberately, and a reset after a complete answer is normal (RFC 9113, 8.1).
            guard self.role == .server, wiretape_reset_code(frame) != NGHTTP2_NO_ERROR.rawValue else { return }
            self.accounts.resetSent()
        case NGHTTP2_DATA, NGHTTP2_HEADERS:
            self.lastSent = max(self.lastSent, header.stream_id)
            self.accounts.dataSent()
            if header.type == NGHTTP2_HEADERS.rawValue { self.headSent(header.stream_id) }
            if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { self.events.append(.answered(stream: header.stream_id)) }
        default: break
        }
    }

    private func headSent(_ stream: Int32) {
        guard let count = self.queuedHeads[stream] else { return }
        self.queuedHeads[stream] = count > 1 ? count - 1 : nil
        if count == 1, let cut = self.cuts.removeValue(forKey: stream) { self.reached(cut, of: stream) }
    }

    // MARK: Sending

    /// Whether the connection is over, with nothing left to read or write.
    public var isOver: Bool { nghttp2_session_want_read(self.session) == 0 && nghttp2_session_want_write(self.session) == 0 }

    /// Bytes to send now, up to about `limit`, and the resulting events.
    ///
    /// - Throws: if nghttp2 is out of memory.
    public func takeOutput(limit: Int = 256 * 1024) throws(HTTP2Failure) -> (bytes: ByteBuffer, events: [HTTP2Event]) {
        self.outputLimit = limit
        if self.lastOutput > 0, nghttp2_session_want_write(self.session) != 0 { self.output.reserveCapacity(min(self.lastOutput, limit)) }
        while self.output.readableBytes < limit {
            var pointer: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(self.session, &pointer)
            guard count >= 0 else { throw HTTP2Failure(code: Int32(truncatingIfNeeded: count)) }
            guard count > 0, let pointer else { break }
            self.output.writeBytes(UnsafeRawBufferPointer(start: pointer, count: count))
        }
        var bytes = ByteBuffer()
        swap(&bytes, &self.output)
        self.lastOutput = bytes.readableBytes
        return (bytes, self.takeEvents())
    }

    /// - Returns: the new stream.
    public func request(_ fields: HTTP2Fields, hasBody: Bool) throws(HTTP2Failure) -> Int32 {
        let stream = fields.withPairs { pairs, count in
            guard hasBody else { return nghttp2_submit_request(self.session, nil, pairs, count, nil, nil) }
            var provider = Self.provider
            return nghttp2_submit_request(self.session, nil, pairs, count, &provider, nil)
        }
        guard stream > 0 else { throw HTTP2Failure(code: stream) }
        if hasBody { self.bodies[stream] = OutgoingBody() }
        return stream
    }

    public func interim(_ stream: Int32, _ fields: HTTP2Fields) {
        fields.withPairs { pairs, count in
            guard nghttp2_submit_headers(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, pairs, count, nil) == 0 else {
                return
            }
            self.queuedHeads[stream, default: 0] += 1
        }
    }

    public func respond(_ stream: Int32, _ fields: HTTP2Fields, hasBody: Bool) {
        fields.withPairs { pairs, count in
            // The peer may have reset the stream in the same bytes that opened it.
            guard self.isOpen(stream) else { return }
            self.queuedHeads[stream, default: 0] += 1
            guard hasBody else { return _ = nghttp2_submit_response(self.session, stream, pairs, count, nil) }
            self.bodies[stream] = OutgoingBody()
            var provider = Self.provider
            _ = nghttp2_submit_response(self.session, stream, pairs, count, &provider)
        }
    }

    /// Bytes of a body, sent as the peer's windows permit.
    public func send(_ stream: Int32, _ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0, let body = self.bodies[stream] else { return }
        body.append(bytes)
        self.resume(stream, body)
    }

    /// The body is complete. Trailers follow it, if any.
    public func end(_ stream: Int32, trailers: HTTP2Fields? = nil) {
        guard let body = self.bodies[stream] else { return }
        body.end = .complete(trailers)
        self.resume(stream, body)
    }

    /// The body ends here, incomplete. The cut is made once the existing part has been sent.
    public func cut(_ stream: Int32, _ cut: HTTP2Cut) {
        if let body = self.bodies[stream], body.size > 0 {
            body.end = .cut(cut)
            return self.resume(stream, body)
        }
        // nghttp2 drops heads that are still in its queue when the stream is reset.
        if self.queuedHeads[stream] == nil { self.reached(cut, of: stream) } else { self.cuts[stream] = cut }
    }

    private func reached(_ cut: HTTP2Cut, of stream: Int32) {
        switch cut {
        case .reset(let code): self.reset(stream, code: code)
        case .broken: self.events.append(.broken(stream: stream))
        }
    }

    /// Ends a stream at once.
    public func reset(_ stream: Int32, code: HTTP2ErrorCode) {
        nghttp2_submit_rst_stream(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    /// Whether a request head was sent. If not, the peer cannot have processed the request.
    public func wasSent(_ stream: Int32) -> Bool { stream <= self.lastSent }

    /// Copies the waiting part of a body into memory of its own size, because it may keep large read buffers alive.
    public func compact(_ stream: Int32) { self.bodies[stream]?.compact() }

    /// Bytes of a body that are waiting to be sent.
    public func pending(_ stream: Int32) -> Int { self.bodies[stream]?.size ?? 0 }

    /// Closed streams are remembered for a while, because frames on them are a different error than frames on idle streams (RFC 9113, 5.1).
    private func isOpen(_ stream: Int32) -> Bool {
        guard let known = nghttp2_session_find_stream(self.session, stream) else { return false }
        return nghttp2_stream_get_state(known) != NGHTTP2_STREAM_STATE_CLOSED
    }

    /// This many bytes of a stream's body were taken, so the peer may send as many more.
    public func credit(_ stream: Int32, _ count: Int) {
        nghttp2_session_consume_stream(self.session, stream, count)
    }

    /// Lets the peer have more bytes of a body in flight, unless the connection's streams together have reached their limit.
    public func growWindow(_ stream: Int32, to size: Int) {
        let more = size - (self.grown[stream] ?? self.settings.streamWindow)
        guard more > 0, self.growth + more <= self.settings.connectionWindow, self.isOpen(stream) else { return }
        self.grown[stream] = size
        self.growth += more
        nghttp2_session_set_local_window_size(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, Int32(size))
    }

    /// Whether the peer has completed its message on this stream, or there is no such stream.
    public func peerHasEnded(_ stream: Int32) -> Bool { nghttp2_session_get_stream_remote_close(self.session, stream) != 0 }

    /// Whether another request may be sent. False after a GOAWAY from either side, and once stream numbers are used up (RFC 9113, 5.1.1).
    public var takesRequests: Bool { nghttp2_session_check_request_allowed(self.session) != 0 }

    /// Checks whether the peer is still there: a closed socket answers with a reset.
    public func probe() { nghttp2_submit_ping(self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// How many streams the peer allows at once.
    public var peerConcurrentStreams: Int {
        Int(nghttp2_session_get_remote_settings(self.session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Accepts no new streams; open streams finish (RFC 9113, 6.8).
    public func goAway() {
        let last = nghttp2_session_get_last_proc_stream_id(self.session)
        nghttp2_submit_goaway(
            self.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, UInt32(NGHTTP2_NO_ERROR.rawValue), nil, 0)
    }

    /// Ends the connection and all its streams by GOAWAY with an error code (RFC 9113, 6.8).
    public func end(code: HTTP2ErrorCode) {
        nghttp2_session_terminate_session(self.session, code.rawValue)
    }

    private func resume(_ stream: Int32, _ body: OutgoingBody) {
        guard body.isDeferred else { return }
        body.isDeferred = false
        nghttp2_session_resume_data(self.session, stream)
    }

    private static var provider: nghttp2_data_provider {
        var provider = nghttp2_data_provider()
        provider.read_callback = { _, stream, _, length, flags, _, user in
            guard let flags, let user else { return 0 }
            return HTTP2Connection.of(user).nextData(stream, length, flags)
        }
        return provider
    }

    /// - Returns: the number of body bytes in the next DATA frame.
    private func nextData(_ stream: Int32, _ length: Int, _ flags: UnsafeMutablePointer<UInt32>) -> Int {
        guard let body = self.bodies[stream] else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_NO_COPY.rawValue)
        let count = min(length, body.size)
        switch body.end {
        case nil where count == 0:
            body.isDeferred = true
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        case .cut(let cut)? where count == 0:
            self.reached(cut, of: stream)
            body.isDeferred = true
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        case .complete(let trailers)? where count == body.size:
            flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
            guard let trailers else { break }
            flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
            trailers.withPairs { _ = nghttp2_submit_trailer(self.session, stream, $0, $1) }
        case nil, .cut, .complete: break
        }
        return count
    }

    /// - Returns: an error that makes nghttp2 wait once there is enough output, because it would otherwise send one DATA frame after
    ///   another.
    private func write(_ stream: Int32, header: UnsafeRawBufferPointer, _ length: Int) -> Int32 {
        guard self.output.readableBytes < self.outputLimit else { return NGHTTP2_ERR_WOULDBLOCK.rawValue }
        self.output.writeBytes(header)
        self.bodies[stream]?.take(length, into: &self.output)
        return 0
    }
}

/// What happens on a connection, in order.
public enum HTTP2Event: Hashable {
    /// A header section of a request, a response (including interim ones), or trailers.
    case headers(stream: Int32, HTTP2FieldSection, endsStream: Bool)
    /// Bytes of a body, at this range of the received bytes.
    case data(stream: Int32, Range<Int>)
    /// The peer's message is complete.
    case ended(stream: Int32)
    /// This side's message has been written completely.
    case answered(stream: Int32)
    /// The stream has ended in both directions, normally or because either side reset it.
    case closed(stream: Int32, code: HTTP2ErrorCode)
    /// What there was of a body that ends in `HTTP2Cut.broken` has been sent. The stream is still open.
    case broken(stream: Int32)
    /// The peer accepts no new streams. Those after `lastStream` were not processed.
    case goAway(lastStream: Int32, code: HTTP2ErrorCode)
    /// The peer's settings have changed.
    case settings
}

/// How an incomplete body ends.
public enum HTTP2Cut {
    /// Its stream is reset.
    case reset(HTTP2ErrorCode)
    /// Whoever owns the connection decides whether the stream or the connection ends. It learns of it by `HTTP2Event.broken`.
    case broken
}

/// A body on its way to the peer.
private final class OutgoingBody {
    enum End {
        case complete(HTTP2Fields?)
        case cut(HTTP2Cut)
    }

    private var first = ByteBuffer()
    /// The buffers that follow, in order. Most bodies have none.
    private var rest: CircularBuffer<ByteBuffer>?
    private(set) var size = 0
    var end: End?
    /// nghttp2 waits to be told that there is more.
    var isDeferred = false

    func append(_ bytes: ByteBuffer) {
        self.size += bytes.readableBytes
        if self.first.readableBytes == 0 {
            self.first = bytes
        } else {
            self.rest = self.rest ?? CircularBuffer(initialCapacity: 4)
            self.rest?.append(bytes)
        }
    }

    func compact() {
        guard self.size > 0 else { return }
        var joined = ByteBufferAllocator().buffer(capacity: self.size)
        joined.writeImmutableBuffer(self.first)
        for bytes in self.rest ?? CircularBuffer() { joined.writeImmutableBuffer(bytes) }
        self.first = joined
        self.rest = nil
    }

    func take(_ count: Int, into output: inout ByteBuffer) {
        var missing = count
        while missing > 0, let slice = self.first.readSlice(length: min(missing, self.first.readableBytes)) {
            output.writeImmutableBuffer(slice)
            missing -= slice.readableBytes
            guard self.first.readableBytes == 0 else { continue }
            self.first = self.rest?.popFirst() ?? ByteBuffer()
            if self.first.readableBytes == 0 { break }
        }
        self.size -= count - missing
    }
}

/// An HTTP/2 error code (RFC 9113, 7).
public struct HTTP2ErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let noError = Self(rawValue: 0x0)
    public static let protocolError = Self(rawValue: 0x1)
    public static let internalError = Self(rawValue: 0x2)
    public static let refusedStream = Self(rawValue: 0x7)
    public static let cancel = Self(rawValue: 0x8)
    public static let enhanceYourCalm = Self(rawValue: 0xb)
    public static let http11Required = Self(rawValue: 0xd)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
        "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    public var description: String {
        self.rawValue < UInt32(Self.names.count) ? Self.names[Int(self.rawValue)] : "code \(self.rawValue)"
    }
}

/// Why a connection cannot continue.
public struct HTTP2Failure: Error, Sendable, Hashable, CustomStringConvertible {
    public var message: String

    public init(_ message: String) { self.message = message }

    /// - Parameter code: an nghttp2 error code.
    init(code: Int32) { self.message = String(cString: nghttp2_strerror(code)) }

    static func check(_ code: Int32) throws(HTTP2Failure) {
        if code != 0 { throw HTTP2Failure(code: code) }
    }

    public var description: String { self.message }
}
