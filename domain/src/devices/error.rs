//! Why a device command is refused.

crate::rejections! {
    /// Refusals of a person's devices.
    pub enum DevicesError {
        /// They have no such device.
        Unknown: NotFound "NOT_FOUND" = "no such device",
        /// They have no such signing request.
        UnknownRequest: NotFound "NOT_FOUND" = "no such signing request",
        /// Nobody has offered them that.
        UnknownTransfer: NotFound "NOT_FOUND" = "no such transfer",
        /// The device, or what belongs to it, is not in this state.
        InvalidState {
            /// What is not.
            what: &'static str,
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "{what} is {state}",
        /// Certificate, PIN or owner changed while this was under way.
        Overtaken: Conflict "OVERTAKEN" = "the device has changed in the meantime; try again",
        /// It has one.
        PinExists: Conflict "PIN_EXISTS" = "the device has a PIN; change it or reset it",
        /// It has none.
        NoPin: Conflict "NO_PIN" = "the device has no PIN",
        /// Too many wrong guesses.
        PinLocked: Conflict "PIN_LOCKED" = "the PIN is locked; reset it",
        /// Not the PIN.
        WrongPin {
            /// How many more guesses there are.
            remaining: u32 => "remainingTries",
        }: Unprocessable "INVALID_PIN" = "the PIN is wrong",
        /// They have a device of that name which is in use.
        DeviceExists: Conflict "DEVICE_EXISTS" = "you have a device of this id in use",
        /// It is theirs.
        OwnDevice: Unprocessable "OWN_DEVICE" = "the device is theirs already",
        /// The day that was agreed on has not come.
        NotYet {
            /// That day.
            effective_at: jiff::Timestamp => "effectiveDate",
        }: Unprocessable "NOT_YET_EFFECTIVE" = "the transfer takes effect at {effective_at}",
    }
}
