internal import TapeBytes

extension CassetteSession {
    /// What came of the replay so far, for reports.
    ///
    /// - Parameters:
    ///   - name: of the cassette, for people.
    ///   - cassette: the one that the session was made with.
    public func report(name: String, cassette: RecordedCassette?) -> ReplayReport {
        let (verdict, answered) = self.verdictAndAnswers()
        let exchanges = answered.enumerated().map { index, count in
            ReplayReport.Exchange(
                id: cassette?.id(at: index) ?? index + 1, request: self.text(ofExchange: index),
                answers: count == AssignmentRule.unanswerable ? nil : Int(count), started: count == 0 ? cassette?.start(at: index) : nil)
        }
        return ReplayReport(
            cassette: PlainText.escape(name.utf8, limit: MissReport.requestLimit), mode: self.mode, repetition: self.repetition,
            order: self.order, verdict: verdict, exchanges: exchanges)
    }
}
