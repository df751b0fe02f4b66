internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// The request goes to the origin, with a tap on it.
extension ForwardExchange {
    func requestInput(_ input: inout ByteBuffer) {
        self.send(&input, at: self.elapsed)
    }

    /// Sends what was read before, as fast as the origin takes it.
    func sendHeld() {
        guard let held, let upstream, !self.isOver, !self.isTakingHeld, upstream.isWritable, !self.pausesForRecorder() else { return }
        self.isTakingHeld = true
        held.next { [weak self] result in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(let pieces):
                for var piece in pieces where !self.isOver { self.send(&piece.octets, at: piece.at) }
                self.isTakingHeld = false
                if pieces.isEmpty || self.isRequestSent { self.held = nil } else { self.sendHeld() }
            case .failure(let error):
                let failure = Failure(kind: .cancelled, message: "the request's body cannot be read back: \(error.message)")
                self.obey(self.state.upstreamFailed(failure, sawResponse: self.sawResponse))
            }
        }
    }

    /// - Parameter at: when it came from the client.
    private func send(_ input: inout ByteBuffer, at: Double) {
        guard let upstream, !self.isOver else { return }
        do throws(MessageError) {
            let progress = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                try self.requestBody.consume(bytes) { self.taped(.request, $0, in: bytes, at: at) }
            }
            if let octets = input.readSlice(length: progress.consumed), octets.readableBytes > 0 {
                upstream.write(octets)
                self.state.requestBodySent()
                self.client.wait(self.proxy.limits.clientStall)
            }
            if progress.isDone {
                self.isRequestRead = true
                self.requestEnded()
            }
            upstream.flush()
            self.regulateClient()
        } catch {
            self.requestFault = error
            self.proxy.count { $0.malformed += 1 }
            self.obey(self.state.requestMalformed(error.message))
        }
    }

    func requestEnded() {
        self.isRequestSent = true
        self.state.requestRead()
        self.tap?.requestEnded(at: self.elapsed, sendStarted: self.sendStarted)
        self.client.wait(self.proxy.limits.upstreamSilence)
    }

    /// What the body parser saw goes to the tap; blocks of large bodies go straight to the recorder.
    func taped(_ side: Tap.Side, _ event: BodyEvent, in bytes: UnsafeRawBufferPointer, at: Double) {
        guard self.records else { return }
        switch event {
        case .data(let range):
            if let block = self.tap?.data(side, UnsafeRawBufferPointer(rebasing: bytes[range]), at: at), let id = self.tap?.id {
                self.proxy.record(.block(exchange: id, side: side, bytes: block))
            }
        case .chunk(let size, let line): self.tap?.chunk(side, size: size, line: line, at: at)
        case .lastChunk(let line): self.tap?.lastChunk(side, line: line)
        case .trailers(let fields): self.tap?.trailers(side, fields)
        }
    }
}
