internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// How a client connection works through what it has read, and when it reads on.
extension ClientHandler {
    /// Reads on, or lets the kernel's buffers fill and the client wait.
    func setReading(_ reads: Bool) {
        guard reads != self.isReading, let context else { return }
        self.isReading = reads
        try? context.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    /// Works through the input as far as it goes.
    func process() {
        // An exchange that ends while it is being started comes back here: the outer call goes on.
        guard !self.isProcessing else { return }
        self.isProcessing = true
        defer { self.isProcessing = false }
        while self.step() {}
        self.compact()
        self.regulate()
    }

    /// - Returns: whether there may be more to do.
    private func step() -> Bool {
        guard var input = self.input, input.readableBytes > 0 else { return false }
        switch self.phase {
        case .lingering, .closed:
            self.input = nil
            return false
        case .exchange(let exchange):
            guard !exchange.isRequestRead else { return false }
            self.input = nil
            let before = input.readableBytes
            exchange.requestInput(&input)
            switch self.phase {
            case .closed: return false
            // What the exchange left is for whatever came after it.
            case .head, .lingering: self.input = input
            case .exchange(let now):
                self.input = input
                guard now === exchange else { return true }
                return input.readableBytes < before
            }
            return true
        case .head:
            // A client that asks on and on and reads nothing gets no more answers kept for it.
            guard !self.proxy.isRecorderFull, self.isWritable else { return false }
            do throws(MessageError) {
                let parsed = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in try self.parser.parseRequest(bytes)
                }
                guard let parsed else {
                    // The time for a head runs from its first octet, not from its last.
                    if !self.isInsideHead { self.wait(self.proxy.limits.requestHead) }
                    self.isInsideHead = true
                    return false
                }
                self.isInsideHead = false
                input.moveReaderIndex(forwardBy: parsed.consumed)
                self.input = input
                self.begin(parsed.head)
                return true
            } catch {
                self.refuse(error)
                return false
            }
        }
    }

    /// What is left over for later does not keep a whole read buffer alive.
    private func compact() {
        guard let input else { return }
        if input.readableBytes == 0 {
            self.input = nil
        } else if input.readableBytes < input.capacity / 2 {
            self.input = ByteBuffer(buffer: input)
        }
    }

    private func regulate() {
        let held = self.input?.readableBytes ?? 0
        switch self.phase {
        case .head:
            if self.proxy.isRecorderFull {
                self.setReading(false)
                self.proxy.whenRecorderDrains(self) { [weak self] in self?.process() }
            } else {
                self.setReading(self.isWritable)
            }
        case .exchange(let exchange):
            // The exchange regulates while it takes the body; behind it, pipelined requests may fill the buffer.
            if held >= self.proxy.limits.pipelined { self.setReading(false) } else if exchange.isRequestRead { self.setReading(true) }
        case .lingering, .closed:
            break
        }
    }
}
