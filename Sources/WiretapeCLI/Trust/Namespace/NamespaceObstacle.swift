/// Where the way into a namespace ended, and with which error of the system.
struct NamespaceObstacle: Error, Hashable {
    /// In the order in which they are taken.
    enum Step: String, CaseIterable {
        /// `unshare(CLONE_NEWNS)`, for root.
        case unshare
        /// `unshare(CLONE_NEWUSER | CLONE_NEWNS)`, for everybody else.
        case unshareUser
        /// Giving the program its own number in the user namespace.
        case numbers
        /// Making what is mounted from now on the namespace's own.
        case propagation
        /// Laying the bundle over the system's.
        case cover
        /// Putting the roots into the folders of hashes.
        case folder
        /// There is no file of roots to cover.
        case nothingToCover
        /// The program that tries it did not say anything that is understood.
        case unknown
    }

    var step: Step
    /// Of errno; 0 where the system was not asked.
    var number: Int32
}

extension NamespaceObstacle {
    /// One line, as the probe prints it.
    var line: String { "\(self.step.rawValue) \(self.number)" }

    init?(line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard words.count == 2, let step = Step(rawValue: String(words[0])), let number = Int32(words[1]) else { return nil }
        self.init(step: step, number: number)
    }
}
